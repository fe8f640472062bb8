import { UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useId, useState, type ReactNode } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'

type Props = {
  /** It contains text. */
  filled: boolean
  /** It contains an error, so it opens and stays open. */
  wrong: boolean
  children: ReactNode
}

/** The form's Chinese texts. The section starts open if there are any. */
export function SecondLanguage({ filled, wrong, children }: Props) {
  const t = useT()
  const id = useId()
  const [open, setOpen] = useState(filled)
  // It stays open when typing clears the error.
  if (wrong && !open) setOpen(true)
  return (
    <section className={classes.second} aria-label={t('form.chinese')}>
      <UnstyledButton
        className={`row unwrapped strong ${classes.secondTitle}`}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {t('form.chinese')} <IconChevronDown size={17} aria-hidden data-open={open || undefined} />
      </UnstyledButton>
      {open && (
        <div id={id} className="stack">
          <p className="dim">{t('form.chineseHint')}</p>
          {children}
        </div>
      )}
    </section>
  )
}
