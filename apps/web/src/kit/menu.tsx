import { IconChevronDown } from '@tabler/icons-react'
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import classes from './menu.module.css'

type Props = {
  label: ReactNode
  /** The accessible name if `label` is an icon. */
  name?: string
  chevron?: boolean
  align?: 'start' | 'end'
  className?: string
  /** Links and buttons; `close` closes the menu. */
  children: (close: () => void) => ReactNode
}

/**
 * A button that opens a short list. Escape, a click elsewhere and a navigation close it. Mantine's Menu would add 30.6
 * kB gzip to the first load (143.8 to 174.4 kB, of 150 kB allowed), since the header is on every page.
 */
export function Menu({ label, name, chevron = true, align = 'start', className, children }: Props) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const { key } = useLocation()
  useEffect(() => setOpen(false), [key])

  useEffect(() => {
    if (!open) return
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      button.current?.focus()
    }
    document.addEventListener('pointerdown', outside)
    document.addEventListener('focusin', outside)
    document.addEventListener('keydown', escape)
    return () => {
      document.removeEventListener('pointerdown', outside)
      document.removeEventListener('focusin', outside)
      document.removeEventListener('keydown', escape)
    }
  }, [open])

  return (
    <div ref={root} className={classes.root}>
      <button
        ref={button}
        type="button"
        className={`${classes.button} ${className ?? ''}`}
        aria-expanded={open}
        aria-controls={id}
        aria-label={name}
        title={name}
        onClick={() => setOpen(!open)}
      >
        {label}
        {chevron && <IconChevronDown size={15} aria-hidden />}
      </button>
      <ul id={id} className={classes.list} data-align={align} hidden={!open}>
        {children(() => setOpen(false))}
      </ul>
    </div>
  )
}
