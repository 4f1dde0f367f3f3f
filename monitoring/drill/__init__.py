"""Drills: an alert's condition is made true on made-up targets of a running chain.

What an operator learns: that the alert fires, when, and that its notification arrives. Every alert
of a drill carries the label ``drill="yes"``; real servers are not touched.
"""
