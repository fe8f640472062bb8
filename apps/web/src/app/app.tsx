import './styles/base.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { BrowserRouter } from 'react-router'
import { queryClient } from '../api/query.ts'
import { onSessionChange, shareSession } from '../api/session.ts'
import { Hosts } from '../kit/hosts.tsx'
import { watchHistory } from '../kit/leaving.ts'
import { keepPayment } from '../kit/payment/pending.ts'
import { Pages } from './pages.tsx'
import { theme, variables } from './theme.ts'

// What one person was about to pay is none of the next one's business.
onSessionChange(() => keepPayment(null))

if ('BroadcastChannel' in window) shareSession(new BroadcastChannel('netlet-session'))

watchHistory()

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
          <Hosts />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}
