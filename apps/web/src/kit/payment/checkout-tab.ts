import { webAddress } from '../web-address.ts'

export type CheckoutTab = { open: (url: string) => boolean; close: () => void }

/**
 * Opens the tab for the checkout. It has to be called in the click itself: a tab that opens after the server's answer
 * counts as a pop-up. `open` is false where the browser refused the tab; a link is then to be offered.
 */
export function checkoutTab(waiting: string): CheckoutTab {
  const tab = window.open('', '_blank')
  if (tab) {
    // What 'noopener' would do; with it, though, there would be no tab to lead on.
    tab.opener = null
    tab.document.title = waiting
    tab.document.body.textContent = waiting
  }
  return {
    open(url) {
      const address = webAddress(url)
      if (!tab || tab.closed || !address) {
        tab?.close()
        return false
      }
      tab.location.replace(address)
      return true
    },
    close: () => tab?.close()
  }
}
