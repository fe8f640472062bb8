/** An address with its port, IPv6 in brackets: without them nobody could tell where the port begins. */
export const hostPort = (ip: string, port: number): string => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
