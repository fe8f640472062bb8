import './styles/base.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { BrowserRouter } from 'react-router'
import { queryClient } from '../api/query.ts'
import { onLogout, onSessionChange, onSessionLoss, shareSession } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import { forgetDrafts } from '../kit/draft.ts'
import { Overlays, preloadOverlays } from '../kit/overlays.tsx'
import { isUnsaved, watchHistory } from '../kit/leaving.ts'
import { notify } from '../kit/notify.ts'
import { keepPayment } from '../kit/payment/pending.ts'
import { Pages } from './pages.tsx'
import { theme, variables } from './theme.ts'

// The next user must not see the previous user's payment.
onSessionChange(() => keepPayment(null))
// Drafts survive an expired session, for the same user's next login. A logout deletes them.
onLogout(forgetDrafts)

/** Milliseconds for which the message is shown. */
const LOSS_SHOWN = 15_000
onSessionLoss((loss, loggedOut) => {
  const said = t(`session.${loss}`)
  notify(
    'info',
    isUnsaved(loggedOut ? 'with drafts' : 'without drafts') ? `${said} ${t('session.unsavedLost')}` : said,
    LOSS_SHOWN
  )
})

if ('BroadcastChannel' in window) shareSession(new BroadcastChannel('netlet-session'))

watchHistory()

// A first action may lead to a message. Loading the code that draws messages earlier would slow the first load.
for (const event of ['pointerdown', 'keydown'])
  window.addEventListener(event, preloadOverlays, { once: true, passive: true })

const schemes = localStorageColorSchemeManager({ key: 'netlet-color-scheme' })

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
      deduplicateInlineStyles
    >
      <QueryClientProvider client={queryClient}>
        <BrowserRouter>
          <Pages />
          <Overlays />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}
