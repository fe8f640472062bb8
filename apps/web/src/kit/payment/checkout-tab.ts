import { webAddress } from '../web-address.ts'

export type CheckoutTab = { open: (url: string) => boolean; close: () => void }

/**
 * Opens a tab for the checkout. Call it in the click handler: after the server's answer the browser blocks it as a
 * pop-up. `open` is false if the browser blocked the tab; offer a link then.
 */
export function checkoutTab(waiting: string): CheckoutTab {
  const tab = window.open('', '_blank')
  if (tab) {
    // Like 'noopener', which would leave us no handle on the tab.
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
