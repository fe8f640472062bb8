import type { UserRecord } from './definitions.ts'

type Clients = Pick<UserRecord, 'allowedClientIps' | 'sentClientIps'>

/** The console's last client list, without operators' changes. */
export const sentClients = ({ allowedClientIps, sentClientIps = allowedClientIps }: Clients): string[] => sentClientIps

export const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i])

const clientsOf = (allowedClientIps: string[], sent: string[]): Clients =>
  sameList(allowedClientIps, sent) ? { allowedClientIps } : { allowedClientIps, sentClientIps: sent }

/** The console's new list with operators' earlier changes applied. */
export function resentClients(before: Clients | undefined, sent: string[]): Clients {
  if (before?.sentClientIps === undefined) return { allowedClientIps: sent }
  const { allowedClientIps: present, sentClientIps: was } = before
  const added = present.filter(text => !was.includes(text))
  const taken = new Set(was.filter(text => !present.includes(text)))
  const allowed = [...new Set([...sent.filter(text => !taken.has(text)), ...added])].toSorted()
  return clientsOf(allowed, sent)
}

/** The list after an operator's change. */
export const changedClients = (before: Clients, allowed: string[]): Clients => clientsOf(allowed, sentClients(before))
