/** An address with its port. IPv6 gets brackets, to separate the address from the port. */
export const hostPort = (ip: string, port: number): string => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
