import { Notifications } from '@mantine/notifications'
import '@mantine/core/styles/CloseButton.layer.css'
import '@mantine/core/styles/Paper.layer.css'
import '@mantine/core/styles/Notification.layer.css'
import '@mantine/notifications/styles.layer.css'
import './styles/toasts.css'

export default function Toaster() {
  return <Notifications position="top-center" limit={3} zIndex={500} />
}
