import { none } from '../../kit/none.tsx'

/** A long text cut to the list's row, complete in the tooltip. */
export const clip = (text: string) =>
  text ? (
    <span className="clamped" style={{ maxWidth: '36rem' }} title={text}>
      {text}
    </span>
  ) : (
    none
  )
