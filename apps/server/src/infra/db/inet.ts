import { isIP } from 'node:net'

/** Is it an address that an inet column takes? One with a zone, such as fe80::1%eth0, is not. */
export const isInet = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
