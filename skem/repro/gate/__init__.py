"""The regression gate: did accuracy or speed get worse?"""
