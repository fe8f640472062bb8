import '@mantine/core/styles/Tooltip.layer.css'
import { Tooltip, VisuallyHidden } from '@mantine/core'
import { cloneElement, useId, useRef, useState, type FocusEvent, type KeyboardEvent, type ReactElement } from 'react'

type Control = ReactElement<Record<string, unknown>>
type Props = {
  /** Why the control is unavailable; undefined if it is available. */
  why: string | undefined
  /** The tooltip, if it says more than the reason: a control with only an icon needs its name in it. */
  shown?: string
  /** A button or checkbox. It does nothing while there is a reason. */
  children: Control
}

const nothing = () => undefined

/**
 * A control that may be unavailable. It stays focusable, so that pointer, keyboard, touch and screen reader users learn
 * why. A `disabled` control would be skipped by the keyboard and lose the focus.
 */
export function UnavailableHint({ why, shown = why, children }: Props) {
  const id = useId()
  const place = useRef<HTMLSpanElement>(null)
  const [isShown, setIsShown] = useState(false)
  const [show, hide] = [() => setIsShown(true), () => setIsShown(false)]
  const toShow = {
    // A tap also starts with this event.
    onMouseEnter: show,
    onMouseLeave: hide,
    onFocus: ({ target }: FocusEvent) => target.matches(':focus-visible') && show(),
    onBlur: hide,
    onKeyDown: ({ key }: KeyboardEvent) => key === 'Escape' && hide()
  }
  const off = why !== undefined && {
    'aria-disabled': true,
    'data-disabled': true,
    'aria-describedby': id,
    onClick: (event: { preventDefault: () => void }) => event.preventDefault(),
    ...('onChange' in children.props ? { onChange: nothing } : {})
  }
  return (
    <>
      {/* Always rendered: a control that moves in the DOM loses the focus. */}
      <span ref={place} style={{ display: 'inline-flex', verticalAlign: 'middle' }} {...toShow}>
        {cloneElement(children, off || {})}
      </span>
      {/* Rendered on demand: a list may have one in each row. */}
      {off && isShown && <Tooltip opened target={place} label={shown} multiline maw={320} withinPortal />}
      {off && <VisuallyHidden id={id}>{why}</VisuallyHidden>}
    </>
  )
}
