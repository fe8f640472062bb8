/** Why agent settings are not saved or applied. Part of `refusals`. */
export const agentSettingRefusals = {
  setting_unknown: [400, 'The agent has no such setting'],
  setting_whole: [400, '{name} must be a whole number from {least} to {most}'],
  setting_ports: [400, '{name} must list port numbers and ranges like 8000-8999'],
  setting_shuts_out: [
    400,
    "{name} does not include {address}, this console's address, so the agent would refuse its connections. Add that address."
  ],
  setting_prefixes: [400, '{name} must list addresses or prefixes like 203.0.113.7'],
  setting_switch: [400, '{name} must be on or off'],
  setting_needs_upgrade: [
    409,
    '{name}: this agent is too old for port ranges and would not start. Upgrade it to {version} first, or save without applying.'
  ],
  settings_no_login: [409, 'The console has no SSH login for this server. Copy the lines to the server manually.']
} as const

/** Why a certificate for proxy clients is not saved, or an agent refuses it. Part of `refusals`. */
export const tlsRefusals = {
  tls_chain_unreadable: [
    400,
    'The certificate cannot be read. Paste the certificate and its issuers as PEM, one after the other, and nothing else.'
  ],
  tls_chain_order: [400, 'Certificate {number} was not signed by the one after it. Paste the chain in order.'],
  tls_not_valid: [400, 'Certificate {number} is valid from {begins} to {ends}, so it is not valid now'],
  tls_no_names: [400, 'The certificate names no host or IP, so clients cannot verify it'],
  tls_key_unreadable: [400, 'The key cannot be read. Paste it as PEM, without a password.'],
  tls_key_mismatch: [400, 'The key does not match the certificate'],
  tls_in_clear: [
    409,
    'The agent has no certificate of its own, so the key would cross the network unencrypted. Reinstall the agent, or keep the files on the server.'
  ],
  tls_agent_too_old: [
    409,
    'The agent is too old for TLS settings from the console. Upgrade it, and it gets this setting automatically.'
  ],
  tls_by_environment: [
    409,
    "PROXY_TLS_CERT in the server's local.env takes precedence. Remove it and PROXY_TLS_KEY there, and reload the agent."
  ],
  tls_not_taken: [409, 'The agent refused it: {message}'],
  tls_secret_unreadable: [409, 'This APP_SECRET cannot decrypt the saved key. Paste the certificate and key again.']
} as const
