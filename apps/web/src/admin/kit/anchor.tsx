import { useImperativeHandle, type Ref } from 'react'

/** Gives a menu or popover the button that it belongs to where that was there before it. */
export function Anchor({ of, ref }: { of: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => of, [of])
  return null
}
