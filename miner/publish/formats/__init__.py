"""One file a format. Each writes rows to a path: complete under its name, or not at all."""
