import { useEffect } from 'react'

/** The document's title while this page is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Netlet` : 'Netlet'
  }, [title])
}
