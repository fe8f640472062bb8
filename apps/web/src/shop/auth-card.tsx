import '../kit/styles/forms.ts'
import type { ReactNode } from 'react'
import { useT } from '../i18n/index.ts'
import { BlockArt } from '../kit/block-art.tsx'
import classes from './auth-card.module.css'

/** The frame of login and sign-up. */
export function AuthCard({ title, children }: { title: string; children: ReactNode }) {
  const t = useT()
  return (
    <div className={`wide page ${classes.page}`}>
      <div className={`card ${classes.card}`}>
        <h1 className="size-figure" style={{ marginBottom: '1.25rem' }}>
          {title}
        </h1>
        {children}
      </div>
      <div className={`band ${classes.side}`}>
        <BlockArt seed="netlet" cols={19} rows={13} letter={{ x: 9, y: 3 }} className={classes.art} />
        <div>
          <p className={classes.words}>{t('landing.title')}</p>
          <p className="hero-note">{t('landing.note')}</p>
        </div>
      </div>
    </div>
  )
}
