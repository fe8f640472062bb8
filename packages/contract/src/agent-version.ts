/** The version suffix of an agent that runs from its sources. It never counts as older than a program. */
export const FROM_SOURCES = '+source'
export const isFromSources = (version: string): boolean => version.endsWith(FROM_SOURCES)
