"""Pod → class: which of HLS, LS and BE a pod or unit belongs to, and why."""
