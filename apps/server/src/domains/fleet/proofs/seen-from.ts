import { createHmac } from 'node:crypto'

/**
 * Signs from which address a call with this mark came. Whoever carries the call cannot make another address of it, and a mark is
 * asked for once.
 */
export const signatureOf = (appSecret: string, { mark, address }: { mark: string; address: string }): string =>
  createHmac('sha256', appSecret).update(`seen from ${mark} ${address}`).digest('base64url')
