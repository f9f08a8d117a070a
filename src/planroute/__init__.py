"""planroute: is a declared plan really executed, and was it the right way to plan?"""
