import { isIP } from 'node:net'

/** Does an inet column accept this address? It accepts no zone, as in fe80::1%eth0. */
export const isInet = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
