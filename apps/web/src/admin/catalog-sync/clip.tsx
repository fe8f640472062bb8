import classes from './clip.module.css'
import { none } from '../../kit/none.tsx'

/** A long text on a list's row: its beginning, and all of it for who points at it. */
export const clip = (text: string) =>
  text ? (
    <span className={classes.clip} title={text}>
      {text}
    </span>
  ) : (
    none
  )
