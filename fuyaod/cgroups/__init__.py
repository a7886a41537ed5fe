"""Control groups: what they hold and use, and later what may be changed on them."""
