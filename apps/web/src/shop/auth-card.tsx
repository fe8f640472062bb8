import '../kit/styles/forms.ts'
import type { ReactNode } from 'react'
import { BlockArt } from '../kit/block-art.tsx'
import classes from './auth-card.module.css'

/** The frame of login and sign-up. */
export function AuthCard({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={`wide page ${classes.page}`}>
      <div className={`card ${classes.card}`}>
        <h1 className={classes.title}>{title}</h1>
        {children}
      </div>
      <BlockArt seed="netlet" cols={22} rows={22} className={classes.art} />
    </div>
  )
}
