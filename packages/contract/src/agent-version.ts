/** What an agent that runs from its sources adds to its version: it is of whatever is there, and never older than a program. */
export const FROM_SOURCES = '+source'
export const isFromSources = (version: string): boolean => version.endsWith(FROM_SOURCES)
