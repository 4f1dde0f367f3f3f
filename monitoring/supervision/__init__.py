"""Running programs as supervised children: started, watched, started again, stopped."""
