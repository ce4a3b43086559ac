// Descriptions of messages, registered when they are first asked for. protobuf registers each file's when the program
// starts, and again (for plug-ins, whose order of initializers is unknown) when a descriptor of the file is first used:
// AssignDescriptors() in google/protobuf/generated_message_reflection.cc, with the files that the file imports. The
// second is enough here: nothing looks a type up by name before a message's descriptor() was called. The binary's link
// (--wrap in CMakeLists.txt) sends the first here.
namespace google::protobuf::internal {
struct DescriptorTable;
}

extern "C" void __wrap__ZN6google8protobuf8internal20AddDescriptorsRunnerC1EPKNS1_15DescriptorTableE(
    void* /*runner*/, const google::protobuf::internal::DescriptorTable* /*table*/) {}
