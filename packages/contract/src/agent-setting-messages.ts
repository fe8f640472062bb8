/** Why agent settings are not saved or applied. Part of `refusals`. */
export const agentSettingRefusals = {
  setting_unknown: [400, 'An agent has no such setting'],
  setting_whole: [400, '{name} must be a whole number from {least} to {most}'],
  setting_ports: [400, '{name} must list port numbers and ranges like 8000-8999'],
  setting_shuts_out: [
    400,
    '{name} leaves out {address}, from which this console connects: the agent would refuse all of its connections'
  ],
  setting_prefixes: [400, '{name} must list addresses or prefixes like 203.0.113.7'],
  setting_switch: [400, '{name} must be on or off'],
  setting_needs_upgrade: [
    409,
    '{name}: the agent of the server is too old for ranges of ports and would not start with them. Upgrade it first to {version}, or save without applying.'
  ],
  settings_no_login: [409, 'The console has no SSH login of the server: copy the lines there by hand']
} as const

/** Why a certificate for proxy clients is not saved, or an agent refuses it. Part of `refusals`. */
export const tlsRefusals = {
  tls_chain_unreadable: [
    400,
    'The certificate cannot be read. Paste the certificate and what signed it as PEM, one after the other, and nothing else.'
  ],
  tls_chain_order: [400, 'Certificate {number} was not signed by the one after it: paste the chain in its order'],
  tls_not_valid: [400, 'Certificate {number} is valid from {begins} to {ends}, and not now'],
  tls_no_names: [400, 'The certificate names no host or IP, so clients cannot verify it'],
  tls_key_unreadable: [400, 'The key cannot be read. Paste it as PEM, without a password.'],
  tls_key_mismatch: [400, 'The key does not belong to the certificate'],
  tls_in_clear: [
    409,
    'The agent has no certificate of its own, so the key would cross the network in the clear. Install the agent again, or keep the files on the server.'
  ],
  tls_agent_too_old: [409, 'The agent is too old for TLS that is set here: upgrade it, and it gets this by itself'],
  tls_by_environment: [
    409,
    'PROXY_TLS_CERT in local.env of the server decides: take it and PROXY_TLS_KEY out there, and reload the agent'
  ],
  tls_not_taken: [409, 'The agent does not take it: {message}'],
  tls_secret_unreadable: [409, 'The saved key cannot be read with this APP_SECRET: paste certificate and key again']
} as const
