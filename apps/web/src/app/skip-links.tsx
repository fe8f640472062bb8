import type { MouseEvent } from 'react'
import { useT } from '../i18n/index.ts'
import { skipTo, useSkipTargets } from '../kit/skip-links.ts'

/** What a dashboard shows beside its menu; elsewhere the content is all that is between header and footer. */
export const PAGE = 'page'
export const CONTENT = 'content'

/** The first that the keyboard reaches on each page: ways past the header and the menu. */
export function SkipLinks() {
  const t = useT()
  const targets = useSkipTargets()
  // The address stays: the part behind `#` is the page's own.
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
