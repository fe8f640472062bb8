import { UnstyledButton } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useId, useState, type ReactNode } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'

type Props = {
  /** Something is written in it. */
  filled: boolean
  /** Something in it is wrong: it opens, and stays so. */
  wrong: boolean
  children: ReactNode
}

/** The part of a form with the texts in Chinese. It begins open where there are some. */
export function SecondLanguage({ filled, wrong, children }: Props) {
  const t = useT()
  const id = useId()
  const [open, setOpen] = useState(filled)
  // It stays open when the first key takes the message away, until somebody closes it.
  if (wrong && !open) setOpen(true)
  return (
    <section className={classes.second} aria-label={t('form.chinese')}>
      <UnstyledButton
        className={classes.secondTitle}
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
