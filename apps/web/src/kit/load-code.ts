import { onlineManager } from '@tanstack/react-query'

/**
 * Loads a part of the code. Without a connection it is not even tried: browsers keep the failure of a module for as long as
 * the page is open, so that the part could not be loaded later either.
 */
export const loadCode = <T>(load: () => Promise<T>): Promise<T> =>
  onlineManager.isOnline() ? load() : Promise.reject(new Error('there is no connection'))
