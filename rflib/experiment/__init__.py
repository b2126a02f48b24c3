"""What a cell is, and the steps that the workflow's rules call."""
