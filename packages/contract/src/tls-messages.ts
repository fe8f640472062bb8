/** Why a certificate for proxy clients is not saved, or an agent refuses it. Part of `refusals`. */
export const tlsRefusals = {
  tls_chain_unreadable: [
    400,
    'The certificate cannot be read. Paste the certificate and what signed it as PEM, one after the other, and nothing else.'
  ],
  tls_chain_order: [400, 'Certificate {number} was not signed by the one after it: paste the chain in its order'],
  tls_not_valid: [400, 'Certificate {number} is valid from {begins} to {ends}, and not now'],
  tls_no_names: [400, 'The certificate names no host and no address, so clients take it for nobody'],
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
