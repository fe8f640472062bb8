import { useLayoutEffect, useRef, type ComponentProps } from 'react'
import classes from './kit.module.css'

type Props = Omit<ComponentProps<'input'>, 'type' | 'ref' | 'className' | 'size'> & {
  label?: string | undefined
  /** Some, but not all, of its items are ticked. */
  indeterminate?: boolean
}

/** A list's checkbox. It is native: a list has one for each row, and the library's consists of a dozen components. */
export function Tick({ label, indeterminate = false, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null)
  // There is no HTML attribute for it.
  useLayoutEffect(() => {
    if (input.current) input.current.indeterminate = indeterminate
  }, [indeterminate])
  const box = <input ref={input} type="checkbox" className={classes.box} {...rest} />
  if (label === undefined) return box
  return (
    <label className={`row unwrapped inline ${classes.boxed}`} style={{ gap: '0.6rem' }}>
      {box}
      {label}
    </label>
  )
}
