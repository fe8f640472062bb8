/** Milliseconds to wait in a background tab, which draws no frames. */
const NO_PICTURE = 100

/** Waits for the browser to paint. On a slow machine, requesting code takes longer than painting the placeholder. */
export const nextPaint = (): Promise<void> =>
  new Promise(done => {
    setTimeout(done, NO_PICTURE)
    // The frame callback runs before the paint, a timeout in it after.
    requestAnimationFrame(() => setTimeout(done))
  })
