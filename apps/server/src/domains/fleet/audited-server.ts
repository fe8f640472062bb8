import type { Server, ServerForm } from '@netlet/contract'

/** A server for the audit log: what its form shows, without what its agent reports. */
export const auditedServer = (server: Server) => ({
  name: server.name,
  ip: server.ip,
  description: server.description,
  port: server.port,
  agent_port: server.agent_port,
  proxy_port: server.proxy_port,
  has_password: server.has_password,
  host_key_fingerprint: server.host_key.known ?? server.host_key.expected,
  has_certificate: server.has_certificate,
  status: server.status,
  cidrs: server.cidrs.map(({ cidr }) => cidr)
})

/** The secrets that a form sets. The log keeps only their names. */
export const secretsOf = ({ password, agent_token }: Pick<ServerForm, 'password' | 'agent_token'>) => ({
  ...(password ? { password: true } : {}),
  ...(agent_token ? { agent_token: true } : {})
})
