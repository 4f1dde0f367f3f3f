"""What to change: findings from what a server did in the last minutes."""
