"""Between Alertmanager and the chat robots of DingTalk, Feishu and WeCom.

The robots differ from a webhook in two ways that Alertmanager cannot handle: some want each
message signed with the time, and all answer status 200 with an error code inside, which
Alertmanager takes for a delivery. The relay signs, reads the code, and answers Alertmanager with a
status that says the truth.
"""
