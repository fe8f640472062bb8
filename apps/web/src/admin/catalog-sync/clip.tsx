import classes from './clip.module.css'
import { none } from '../../kit/none.tsx'

/** A long text cut to the list's row, complete in the tooltip. */
export const clip = (text: string) =>
  text ? (
    <span className={classes.clip} title={text}>
      {text}
    </span>
  ) : (
    none
  )
