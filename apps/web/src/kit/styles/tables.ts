// Tables with pages: loaded by the dashboard.
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Group.layer.css'
import '@mantine/core/styles/Pagination.layer.css'
