import { useLayoutEffect, useRef, type ComponentProps } from 'react'
import classes from './kit.module.css'

type Props = Omit<ComponentProps<'input'>, 'type' | 'ref' | 'className' | 'size'> & {
  label?: string | undefined
  /** Some of what it stands for is ticked. */
  indeterminate?: boolean
}

/** A checkbox of a list. It is the browser's own: a list has one for each row, and the library's is a dozen components. */
export function Tick({ label, indeterminate = false, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null)
  // The browser has no attribute for it.
  useLayoutEffect(() => {
    if (input.current) input.current.indeterminate = indeterminate
  }, [indeterminate])
  const box = <input ref={input} type="checkbox" className={classes.box} {...rest} />
  if (label === undefined) return box
  return (
    <label className={classes.boxed}>
      {box}
      {label}
    </label>
  )
}
