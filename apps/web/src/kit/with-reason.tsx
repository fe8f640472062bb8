import '@mantine/core/styles/Tooltip.layer.css'
import { Tooltip, VisuallyHidden } from '@mantine/core'
import { cloneElement, useId, useRef, useState, type FocusEvent, type KeyboardEvent, type ReactElement } from 'react'

type Control = ReactElement<Record<string, unknown>>
type Props = {
  /** Why the control cannot be used now; undefined: it can be. */
  why: string | undefined
  /** What the tooltip says, where that is more than the reason: a control that is a picture alone has its name in it. */
  shown?: string
  /** A button or a checkbox, which does nothing where there is a reason. */
  children: Control
}

const nothing = () => undefined

/**
 * A control that may not be possible now: then it stays reachable and says why to whoever points at it, focuses it or touches
 * it, and to a screen reader. A `disabled` one would be passed over by the keyboard, and lose the focus that it has.
 */
export function WithReason({ why, shown = why, children }: Props) {
  const id = useId()
  const place = useRef<HTMLSpanElement>(null)
  const [isShown, setIsShown] = useState(false)
  const [show, hide] = [() => setIsShown(true), () => setIsShown(false)]
  const toShow = {
    // A tap begins with it, too.
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
      {/* Always there: a control that moved within the page would lose the focus. */}
      <span ref={place} style={{ display: 'inline-flex', verticalAlign: 'middle' }} {...toShow}>
        {cloneElement(children, off || {})}
      </span>
      {/* Made when it is needed: a list may have one in each row. */}
      {off && isShown && <Tooltip opened target={place} label={shown} multiline maw={320} withinPortal />}
      {off && <VisuallyHidden id={id}>{why}</VisuallyHidden>}
    </>
  )
}
