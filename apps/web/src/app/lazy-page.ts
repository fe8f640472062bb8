import { createElement, lazy, type ComponentType } from 'react'
import { loadCode } from '../kit/load-code.ts'
import { nextPaint } from '../kit/next-paint.ts'

export type Code = { default: ComponentType }

/** The code of a page did not load. After `again`, the next render requests it again. */
export class CodeError extends Error {
  readonly again: () => void

  constructor(cause: unknown, again: () => void) {
    super('the code of a page could not be loaded', { cause })
    this.name = 'CodeError'
    this.again = again
  }
}

/** A page whose code loads on first use or by `preload`. React caches failures; the boundary here can retry. */
export function lazyPage(load: () => Promise<Code>) {
  let asked: Promise<Code> | undefined
  const preload = (): Promise<Code> => {
    asked ??= loadCode(load).catch((cause: unknown) => {
      asked = undefined
      throw cause
    })
    return asked
  }
  const make = () => {
    // Render the placeholder first.
    const page = lazy(() =>
      (asked ?? nextPaint().then(preload)).catch((cause: unknown) => {
        throw new CodeError(cause, () => {
          if (Page === page) Page = make()
        })
      })
    )
    return page
  }
  let Page = make()
  return Object.assign(() => createElement(Page), { preload })
}
