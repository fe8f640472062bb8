/** Milliseconds until a page that draws no pictures, as in a tab behind, is taken to have drawn one. */
const NO_PICTURE = 100

/** Waits until the browser has drawn what is known now: to ask for code takes a slow machine longer than to show that it comes. */
export const nextPicture = (): Promise<void> =>
  new Promise(done => {
    setTimeout(done, NO_PICTURE)
    // A frame begins before its picture: what follows it comes after.
    requestAnimationFrame(() => setTimeout(done))
  })
