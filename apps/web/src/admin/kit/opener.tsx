import { useEffect, useId, useImperativeHandle, useState, type MouseEvent, type Ref } from 'react'

/**
 * A button whose menu or popover is made when it is first opened: a list has many, most of which nobody opens.
 * @returns `opener` for the button; `made` for the library's menu or popover, with `Anchor` as its target, once there is one
 */
export function useOpener(opened: boolean, onChange: (opened: boolean) => void) {
  const id = useId()
  const [button, setButton] = useState<HTMLElement | null>(null)
  const [isMade, setIsMade] = useState(false)
  // Not at once: what is open from its first moment does not know where the focus was before.
  useEffect(() => setIsMade(button !== null), [button])
  const shown = opened && isMade
  const opener = {
    id,
    'aria-expanded': shown,
    'aria-controls': shown ? `${id}-dropdown` : undefined,
    onClick: ({ currentTarget }: MouseEvent<HTMLElement>) => {
      // Not every browser focuses a button that is clicked, and here is where the focus comes back to.
      currentTarget.focus()
      setButton(currentTarget)
      onChange(!opened)
    }
  }
  return { opener, button, made: { id, opened: shown, onChange } }
}

/** Gives a menu or popover the button that was there before it. */
export function Anchor({ of, ref }: { of: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => of, [of])
  return null
}
