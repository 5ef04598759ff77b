"""A number with its noun, for people."""


def counted(number: int, noun: str) -> str:
    """ "1 task", "2 tasks", "0 repositories": `noun` as for one, adjectives before it."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
