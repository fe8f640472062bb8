import { createElement, lazy, type ComponentType } from 'react'
import { loadCode } from '../kit/load-code.ts'
import { nextPicture } from '../kit/next-picture.ts'

export type Code = { default: ComponentType }

/** The code of a page did not come. After `again`, the next drawing of the page asks for it anew. */
export class CodeError extends Error {
  readonly again: () => void

  constructor(cause: unknown, again: () => void) {
    super('the code of a page could not be loaded', { cause })
    this.name = 'CodeError'
    this.again = again
  }
}

/**
 * A page whose code is loaded when it is first shown; `preload` loads it before. Where it does not come, the boundary around
 * the page says so and can try again: the library itself keeps a failure for good.
 */
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
    // Once the place holder is shown.
    const page = lazy(() =>
      (asked ?? nextPicture().then(preload)).catch((cause: unknown) => {
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
