import { createHmac } from 'node:crypto'

/** Signs the address that a call with this mark came from, so that no proxy on the way can forge another. */
export const signatureOf = (appSecret: string, { mark, address }: { mark: string; address: string }): string =>
  createHmac('sha256', appSecret).update(`seen from ${mark} ${address}`).digest('base64url')
