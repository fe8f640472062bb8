import type { Secrets } from '../../infra/secrets.ts'

const PURPOSES = { confirm: 'status-confirm', unsubscribe: 'status-unsubscribe' } as const
export type TokenPurpose = keyof typeof PURPOSES

/** The content of a mail's link: its subscriber. Sealed, so it cannot be forged and reveals no address. */
export const statusToken = (secrets: Secrets, purpose: TokenPurpose, id: number): string =>
  secrets.seal(JSON.stringify([PURPOSES[purpose], id])).toString('base64url')

/** The subscriber of a token; null if it is not valid for this purpose. */
export function readToken(secrets: Secrets, purpose: TokenPurpose, token: string): number | null {
  try {
    const [found, id] = JSON.parse(secrets.open(Buffer.from(token, 'base64url'))) as unknown[]
    return found === PURPOSES[purpose] && typeof id === 'number' ? id : null
  } catch {
    return null
  }
}
