import type { MouseEvent } from 'react'
import { useT } from '../i18n/index.ts'
import { skipTo, useSkipTargets } from '../kit/skip-links.ts'

/** The page area beside a dashboard's menu. Elsewhere CONTENT is everything between header and footer. */
export const PAGE = 'page'
export const CONTENT = 'content'

/** The first focusable elements of each page: links past the header and the menu. */
export function SkipLinks() {
  const t = useT()
  const targets = useSkipTargets()
  // Keep the address: the page uses the hash itself.
  const go = (id: string) => (event: MouseEvent) => {
    event.preventDefault()
    skipTo(id)
  }
  return (
    <>
      {targets.map(({ id, label }) => (
        <a key={id} className="skip" href={`#${id}`} onClick={go(id)}>
          {label}
        </a>
      ))}
      <a
        className="skip"
        href={`#${CONTENT}`}
        onClick={event => go(document.getElementById(PAGE) ? PAGE : CONTENT)(event)}
      >
        {t('skip')}
      </a>
    </>
  )
}
