import { useEffect, useId, useImperativeHandle, useState, type MouseEvent, type Ref } from 'react'

/**
 * A button whose menu or popover is created when it first opens, because a list has many that are never used.
 * @returns `opener`: the button's props; `made`: set once the menu, with `Anchor` as its target, can render
 */
export function useOpener(opened: boolean, onChange: (opened: boolean) => void) {
  const id = useId()
  const [button, setButton] = useState<HTMLElement | null>(null)
  const [isMade, setIsMade] = useState(false)
  // Render it closed first: a menu that mounts open does not know where the focus was.
  useEffect(() => setIsMade(button !== null), [button])
  const shown = opened && isMade
  const opener = {
    id,
    'aria-expanded': shown,
    'aria-controls': shown ? `${id}-dropdown` : undefined,
    onClick: ({ currentTarget }: MouseEvent<HTMLElement>) => {
      // Some browsers do not focus a clicked button, but focus returns here later.
      currentTarget.focus()
      setButton(currentTarget)
      onChange(!opened)
    }
  }
  return { opener, button, made: { id, opened: shown, onChange } }
}

/** Makes an existing button the target of a menu or popover. */
export function Anchor({ of, ref }: { of: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => of, [of])
  return null
}
