/**
 * A pattern for `ilike` that finds this address alone, whatever its case: the index of searches serves patterns, and one
 * without wildcards is the address itself.
 */
export const exactly = (address: string): string => address.replace(/[\\%_]/g, String.raw`\$&`)
